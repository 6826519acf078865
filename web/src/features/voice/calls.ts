/** The route of dictation (protocol-voice). */
import { request } from "../../api/client.ts";
import type { VoiceStatusResponse } from "../../api/types.ts";

export const readStatus = () => request<VoiceStatusResponse>("GET", "api/voice/status");
