# fio2es in an image of its own: one static program, no shell, no root.
#
#   docker build -t fio2es --build-arg VERSION="$(git describe --tags --always)" \
#     --build-arg COMMIT="$(git rev-parse HEAD)" --build-arg DATE="$(git log -1 --format=%cI)" .
#   docker run --rm --read-only --cap-drop ALL --security-opt no-new-privileges \
#     -v "$PWD/results:/data:ro" fio2es ingest --dry-run /data
#
# With --build-arg KIND=with-fio the image also has Debian's fio, for "fio2es run".
# The images are pinned by digest; others with --build-arg GO_IMAGE=…, BASE_IMAGE=… and FIO_IMAGE=…

ARG KIND=alone
ARG GO_IMAGE=golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
ARG BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot@sha256:afa5c872c891853ca7fcf1f12c3edb23f7eeef36189728842dd51042ff57f7ab
ARG FIO_IMAGE=debian:bookworm-slim@sha256:4724b8cc51e33e398f0e2e15e18d5ec2851ff0c2280647e1310bc1642182655d

FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION
ARG COMMIT
ARG DATE
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X main.release=${VERSION} -X main.commit=${COMMIT} -X main.date=${DATE}" -o /fio2es ./cmd/fio2es

# With fio: the user and home of the image without it.
FROM ${FIO_IMAGE} AS with-fio
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates fio && rm -rf /var/lib/apt/lists/* && \
    useradd --uid 65532 --create-home nonroot

# It has the certificates of public authorities, a /tmp and a user without rights.
FROM ${BASE_IMAGE} AS alone

FROM ${KIND}
USER 65532:65532
COPY --from=build /fio2es /usr/local/bin/fio2es
WORKDIR /home/nonroot
ENTRYPOINT ["/usr/local/bin/fio2es"]
ARG VERSION
ARG COMMIT
ARG DATE
LABEL org.opencontainers.image.title="fio2es" \
      org.opencontainers.image.description="Latency percentiles you can trust, from fio's histogram logs" \
      org.opencontainers.image.url="https://github.com/fio2es/fio2es" \
      org.opencontainers.image.source="https://github.com/fio2es/fio2es" \
      org.opencontainers.image.documentation="https://github.com/fio2es/fio2es/blob/main/docs/operate.md" \
      org.opencontainers.image.vendor="fio2es" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${COMMIT}" \
      org.opencontainers.image.created="${DATE}"
