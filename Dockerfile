# fio2es in an image of its own: one static program, no shell, no root.
#
#   docker build -t fio2es .
#   docker run --rm -v "$PWD/results:/data:ro" fio2es ingest --dry-run /data

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /fio2es ./cmd/fio2es

# Has the certificates of public authorities, a /tmp and a user without rights.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /fio2es /usr/local/bin/fio2es
WORKDIR /home/nonroot
ENTRYPOINT ["/usr/local/bin/fio2es"]
