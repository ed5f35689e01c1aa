# syntax=docker/dockerfile:1
# What ships trtspec: `gpu` on NVIDIA's TensorRT-LLM release image (the default),
# `gpu-nodes` for servers over several nodes, `cpu` for the reference engine alone.
#
#   docker build -t trtspec:gpu .
#   docker build -t trtspec:cpu --target cpu .
#
# docs/deploy.md says how to run them, and what was tried without NVIDIA's image.

# 1.2.1 has both backends of TensorRT-LLM. A candidate of main, such as 1.3.0rc24, has
# backend pytorch only. Pin by digest (release@sha256:...) for what must not change.
ARG TRTLLM_VERSION=1.2.1
ARG TRTLLM_IMAGE=nvcr.io/nvidia/tensorrt-llm/release:${TRTLLM_VERSION}
ARG PYTHON_IMAGE=python:3.12-slim

# --- the wheel: built apart, so that no build tool enters NVIDIA's environment ----------
FROM ${PYTHON_IMAGE} AS wheel
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY trtspec trtspec
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

# --- cpu, first stage: a venv that the last stage takes over as it is -------------------
FROM ${PYTHON_IMAGE} AS cpu-venv
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY constraints.txt /src/
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:${PATH}
# the CPU build of torch has an index of its own; the one on PyPI brings CUDA's libraries
RUN python -m pip install --no-cache-dir --constraint /src/constraints.txt \
      --index-url "${TORCH_INDEX}" torch
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --constraint /src/constraints.txt \
      "$(echo /wheels/trtspec-*.whl)[demo,serve]"

# --- cpu: the reference engine ----------------------------------------------------------
FROM ${PYTHON_IMAGE} AS cpu
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="trtspec, reference engine" \
      org.opencontainers.image.description="Speculative decoding: the embedded engine, on a CPU" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends tini \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 trtspec \
 && useradd --uid 10001 --gid 10001 --no-log-init --no-create-home \
      --home-dir /trtspec/cache --shell /bin/bash trtspec \
 && install -d -o 10001 -g 10001 /trtspec /trtspec/models /trtspec/engines /trtspec/cache
COPY --from=cpu-venv /opt/venv /opt/venv
COPY --chmod=0555 deploy/image/entrypoint.sh deploy/image/healthcheck.py /opt/trtspec/
COPY recipes /trtspec/recipes
ENV PATH=/opt/venv/bin:${PATH} \
    HOME=/trtspec/cache \
    HF_HOME=/trtspec/models/huggingface \
    TRTSPEC_CACHE=/trtspec/cache/trtspec \
    PYTHONUNBUFFERED=1
WORKDIR /trtspec
VOLUME ["/trtspec/models", "/trtspec/engines", "/trtspec/cache"]
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=1h --retries=4 \
  CMD ["python3", "/opt/trtspec/healthcheck.py"]
ENTRYPOINT ["tini", "--", "/opt/trtspec/entrypoint.sh"]
CMD ["--help"]

# --- gpu-base: trtspec in NVIDIA's environment, none of whose packages may change --------
FROM ${TRTLLM_IMAGE} AS gpu-base
ARG TRTLLM_IMAGE
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="trtspec" \
      org.opencontainers.image.description="Speculative decoding on TensorRT-LLM" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${TRTLLM_IMAGE}" \
      org.opencontainers.image.licenses="Apache-2.0 AND LicenseRef-NVIDIA"
# hadolint ignore=DL3002
USER 0
# uid 10001, for Ubuntu's own user has 1000
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends tini \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 trtspec \
 && useradd --uid 10001 --gid 10001 --no-log-init --no-create-home \
      --home-dir /trtspec/cache --shell /bin/bash trtspec \
 && install -d -o 10001 -g 10001 /trtspec /trtspec/models /trtspec/engines /trtspec/cache \
 && install -d /opt/trtspec
# Every installed package is a constraint: what trtspec needs is either there in a version
# that suits it, or is added, or the build ends here. The last line shows what changed all
# the same, and fails if anything did.
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    python3 -m pip list --format=freeze >/opt/trtspec/image-packages.txt \
 && python3 -m pip install --no-cache-dir --constraint /opt/trtspec/image-packages.txt \
      "$(echo /wheels/trtspec-*.whl)[serve]" \
 && python3 -m pip list --format=freeze >/opt/trtspec/packages.txt \
 && ! grep --line-regexp --fixed-strings --invert-match \
      --file=/opt/trtspec/packages.txt /opt/trtspec/image-packages.txt
COPY --chmod=0555 deploy/image/entrypoint.sh deploy/image/healthcheck.py /opt/trtspec/
COPY recipes /trtspec/recipes
ENV HOME=/trtspec/cache \
    HF_HOME=/trtspec/models/huggingface \
    TRTSPEC_CACHE=/trtspec/cache/trtspec \
    PYTHONUNBUFFERED=1
WORKDIR /trtspec
VOLUME ["/trtspec/models", "/trtspec/engines", "/trtspec/cache"]
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=1h --retries=4 \
  CMD ["python3", "/opt/trtspec/healthcheck.py"]
ENTRYPOINT ["tini", "--", "/opt/trtspec/entrypoint.sh"]
CMD ["--help"]

# --- gpu-nodes: with sshd, by which mpirun starts the ranks on other nodes ---------------
FROM gpu-base AS gpu-nodes
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends openssh-client openssh-server \
 && rm -rf /var/lib/apt/lists/*
COPY --chmod=0555 deploy/kubernetes/several-nodes/node.sh /opt/trtspec/
USER 10001:10001

# --- gpu: the default target ------------------------------------------------------------
FROM gpu-base AS gpu
USER 10001:10001
