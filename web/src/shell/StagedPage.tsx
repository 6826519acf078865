/** A page in the place of the terminals; on a phone over everything. */
import { openPage, type Page } from "../ui/pages/registry.ts";
import { StageFrame } from "../ui/pages/StageFrame.tsx";
import { PageBody } from "./PageBody.tsx";

const closePage = () => (openPage.value = undefined);

export function StagedPage({ page }: { page: Page }) {
  return (
    <StageFrame
      as="page"
      title={page.title}
      startAtTitle
      onClose={closePage}
      class="page"
      testid={`page-${page.id}`}
    >
      <PageBody page={page} />
    </StageFrame>
  );
}
