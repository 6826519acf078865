/** In the place of the terminals, with the sessions beside it; on a phone over everything. */
import type { ComponentProps } from "preact";
import { Dialog } from "../Dialog.tsx";
import { staged, type Stage } from "./stage.ts";
import { narrow } from "../width.ts";

interface Props extends ComponentProps<typeof Dialog> {
  as: Stage;
}

export function StageFrame({ as, ...rest }: Props) {
  if (narrow.value) return <Dialog {...rest} />;
  return (
    <div class="staged" inert={staged.value !== as}>
      <Dialog {...rest} modal={false} />
    </div>
  );
}
