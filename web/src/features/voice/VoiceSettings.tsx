/** Whether there is dictation, and who understands it. */
import { Select } from "../../ui/Select.tsx";
import type { VoiceSettingsPatch } from "../../api/types.ts";
import { Field, SaveMark, Switch, TextField } from "../settings/fields.tsx";
import { getPendingValue, marks, saveSetting, saveSome } from "../settings/saving.ts";
import { settings } from "../../store/state.ts";

type Provider = NonNullable<VoiceSettingsPatch["provider"]>;

const PROVIDERS: readonly [Provider, string][] = [
  ["auto", "first available"],
  ["primary", "Claude Code account"],
  ["third_party", "Deepgram"],
  ["browser", "this browser"],
];

const wordsOf = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

export function VoiceSettings() {
  const enabled = settings.value.primaryVoiceEnabled === true;
  const voice = settings.value.voiceSettings;
  const asked = getPendingValue(marks.value.get("voiceSettings")) as VoiceSettingsPatch | undefined;
  const set = (value: VoiceSettingsPatch, before?: VoiceSettingsPatch) =>
    void saveSome("voiceSettings", value, before);
  return (
    <>
      <Switch
        label="Dictation"
        hint="a microphone next to the prompt box; audio goes to the speech service while you talk"
        name="primaryVoiceEnabled"
        value={enabled}
        onChange={(on) => void saveSetting("primaryVoiceEnabled", on)}
      />
      {enabled && voice && (
        <>
          <Field label="Speech service">
            <Select
              value={voice.provider as Provider}
              testid="voice-provider"
              choices={PROVIDERS}
              onChoose={(chosen) => set({ provider: chosen }, { provider: voice.provider as Provider })}
            />
          </Field>
          {voice.provider !== "primary" && voice.provider !== "browser" && (
            <Field label="Deepgram key" hint="stored on the server, never shown again">
              <input
                class="field"
                type="password"
                autocomplete="off"
                placeholder={voice.apiKeySet ? "saved" : "none"}
                onChange={(event) => set({ apiKey: event.currentTarget.value })}
                data-testid="voice-key"
              />
            </Field>
          )}
          <TextField
            label="Language"
            hint="e.g. en or de-CH"
            value={voice.language}
            asked={asked?.language ?? undefined}
            onChange={(language) => set({ language }, { language: voice.language })}
            testid="voice-language"
          />
          <TextField
            label="Custom vocabulary"
            hint="e.g. project names, separated by commas"
            value={voice.keyterms.join(", ")}
            asked={asked?.keyterms?.join(", ")}
            onChange={(text) => set({ keyterms: wordsOf(text) }, { keyterms: voice.keyterms })}
            testid="voice-words"
          />
          <SaveMark name="voiceSettings" />
        </>
      )}
    </>
  );
}
