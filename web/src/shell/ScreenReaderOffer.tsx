/** The page's first stop for the keyboard: a canvas of letters says nothing to a screen reader. */
import { change, prefs } from "../store/prefs.ts";
import { restoreDefaultFocus } from "../ui/defaultfocus.ts";

export function ScreenReaderOffer() {
  const on = prefs.value.screenReader;
  const act = () => {
    change({ screenReader: !on });
    restoreDefaultFocus();
  };
  return (
    <button
      type="button"
      class="button primary offer"
      aria-pressed={on}
      onClick={act}
      data-testid="screen-reader-offer"
    >
      Screen-reader mode
    </button>
  );
}
