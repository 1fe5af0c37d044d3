# fio2es in an image of its own: one static program, no shell, no root.
#
#   docker build -t fio2es --build-arg VERSION="$(git describe --tags --always)" \
#     --build-arg COMMIT="$(git rev-parse HEAD)" --build-arg DATE="$(git log -1 --format=%cI)" .
#   docker run --rm --read-only --cap-drop ALL --security-opt no-new-privileges \
#     -v "$PWD/results:/data:ro" fio2es ingest --dry-run /data
#
# The images are pinned by digest; others with --build-arg GO_IMAGE=… and BASE_IMAGE=…

ARG GO_IMAGE=golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
ARG BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot@sha256:afa5c872c891853ca7fcf1f12c3edb23f7eeef36189728842dd51042ff57f7ab

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION
ARG COMMIT
ARG DATE
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X main.release=${VERSION} -X main.commit=${COMMIT} -X main.date=${DATE}" -o /fio2es ./cmd/fio2es

# Has the certificates of public authorities, a /tmp and a user without rights.
FROM ${BASE_IMAGE}
USER nonroot:nonroot
COPY --from=build /fio2es /usr/local/bin/fio2es
WORKDIR /home/nonroot
ENTRYPOINT ["/usr/local/bin/fio2es"]
