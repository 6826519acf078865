import type { ComponentProps } from "preact";
import { FormRow } from "../../../ui/FormRow.tsx";
import type { FieldName } from "./problems.ts";

export { type Tied, Wrong } from "../../../ui/FormRow.tsx";

type Props = Omit<ComponentProps<typeof FormRow>, "form" | "name"> & { name: FieldName };

/** A labelled control of a job with its problem below it. */
export function Row(props: Props) {
  return <FormRow form="job" {...props} />;
}
