# fio2es in an image of its own: one static program, no shell, no root.
#
#   docker build -t fio2es .
#   docker run --rm --read-only --cap-drop ALL --security-opt no-new-privileges \
#     -v "$PWD/results:/data:ro" fio2es ingest --dry-run /data
#
# To pin the images by digest: --build-arg GO_IMAGE=golang:1.26.8@sha256:… and
# --build-arg BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot@sha256:…

ARG GO_IMAGE=golang:1.26.8-bookworm
ARG BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /fio2es ./cmd/fio2es

# Has the certificates of public authorities, a /tmp and a user without rights.
FROM ${BASE_IMAGE}
USER nonroot:nonroot
COPY --from=build /fio2es /usr/local/bin/fio2es
WORKDIR /home/nonroot
ENTRYPOINT ["/usr/local/bin/fio2es"]
