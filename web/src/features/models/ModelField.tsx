/** Which model a new session begins with: the agent's own, or one of an endpoint. */
import { api } from "../../api/client.ts";
import type { Endpoint } from "../../api/types.ts";
import { useRead } from "../../store/resource.ts";
import { formatModel } from "./texts.ts";

export interface ChosenModel {
  endpointId: string;
  modelId: string;
}

interface Props {
  chosen: ChosenModel | undefined;
  onChoose: (chosen: ChosenModel | undefined) => void;
}

const SEPARATOR = " ";
const valueOf = ({ endpointId, modelId }: ChosenModel) => `${endpointId}${SEPARATOR}${modelId}`;

/** A model's name holds no blank (protocol-models). */
function chosenOf(value: string): ChosenModel | undefined {
  const [endpointId = "", modelId = ""] = value.split(SEPARATOR);
  return endpointId && modelId ? { endpointId, modelId } : undefined;
}

/** An endpoint's chosen one comes first. */
function ordered({ models, defaultModelId }: Endpoint) {
  return models.toSorted((a, b) => Number(b.id === defaultModelId) - Number(a.id === defaultModelId));
}

export function ModelField({ chosen, onChoose }: Props) {
  const { data: endpoints, problem } = useRead((signal) => api.get("/api/model-endpoints", { signal }), []);
  if (problem !== "") return <p class="field-problem">{problem}</p>;
  const offering = endpoints?.filter(({ models }) => models.length > 0) ?? [];
  if (offering.length === 0) return null;
  return (
    <label class="labelled">
      <span>
        Model <small>the agent's default, or one from your endpoints</small>
      </span>
      <select
        class="field"
        value={chosen ? valueOf(chosen) : ""}
        onChange={(event) => onChoose(chosenOf(event.currentTarget.value))}
        data-testid="new-model"
      >
        <option value="">Agent default</option>
        {offering.map((endpoint) => (
          <optgroup key={endpoint.id} label={endpoint.label}>
            {ordered(endpoint).map((model) => (
              <option key={model.id} value={valueOf({ endpointId: endpoint.id, modelId: model.id })}>
                {formatModel(model)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}
