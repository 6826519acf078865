/** The route of dictation (protocol-voice). */
import { request } from "../api/client.ts";
import type { VoiceStatus } from "../api/types.ts";

export const readStatus = () => request<VoiceStatus>("GET", "api/voice/status");
