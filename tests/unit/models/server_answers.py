"""What model servers answer, cut to one model or two; fields that nobody reads are kept, for a
reader has to bear them.
"""

from __future__ import annotations

LLAMA_SERVER = """{"object": "list", "data": [{"id": "unsloth/gemma-4-31B-it-GGUF", "aliases": [],
 "tags": [], "object": "model", "created": 1783253170, "owned_by": "llamacpp",
 "meta": {"vocab_type": 2, "n_vocab": 262144, "n_ctx": 32768, "n_ctx_train": 262144,
 "n_embd": 5376, "n_params": 4647450147, "size": 3090917516}}]}"""
"""llama.cpp's llama-server, with C{meta.n_ctx}: newer versions add it to what the model was trained
with."""

LLAMA_SERVER_OLD = """{"object": "list", "data": [{"id": "../models/Meta-Llama-3.1-8B.gguf",
 "object": "model", "created": 1735142223, "owned_by": "llamacpp",
 "meta": {"vocab_type": 2, "n_vocab": 128256, "n_ctx_train": 131072, "n_embd": 4096}}]}"""
"""The same without it: the example of tools/server/README.md."""

LLAMA_SWAP = """{"object": "list", "data": [{"id": "qwen3.5-9b", "object": "model",
 "created": 1735142223, "owned_by": "llama-swap"}, {"id": "seat", "object": "model",
 "created": 1735142223, "owned_by": "llama-swap", "name": "A seat", "description": "one"}]}"""
"""llama-swap: proxy/proxymanager.go, listModelsHandler."""

LLAMA_SWAP_RUNNING = """{"running": [{"model": "qwen3.5-9b", "state": "ready",
 "cmd": "llama-server", "proxy": "http://localhost:5800", "ttl": 0, "name": "", "description": ""},
 {"model": "seat", "state": "stopping"}]}"""
"""llama-swap: proxy/proxymanager.go, listRunningProcessesHandler."""

OLLAMA = """{"object": "list", "data": [{"id": "llama3.2:latest", "object": "model",
 "created": 1735142223, "owned_by": "library"}]}"""
"""The fields of Ollama's OpenAI layer, written by hand: it tells no length."""

VLLM = """{"object": "list", "data": [{"id": "Qwen/Qwen2.5-1.5B-Instruct", "object": "model",
 "created": 1735142223, "owned_by": "vllm", "root": "Qwen/Qwen2.5-1.5B-Instruct", "parent": null,
 "max_model_len": 16384, "permission": [{"id": "modelperm-1", "allow_sampling": true}]}]}"""
"""The fields of vLLM's model cards, written by hand."""

ROUTER = """{"data": [{"id": "anthropic/some-model", "context_length": 200000,
 "top_provider": {"context_length": 200000}, "pricing": {"prompt": "0.1"}}]}"""
"""A router of many vendors' models, in the manner of OpenRouter."""
