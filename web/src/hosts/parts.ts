/** All that the page shows and hears of sessions elsewhere, loaded with the first one. */
export { AwayNotice } from "./AwayNotice.tsx";
export { follow } from "./follow.ts";
export { Mark } from "./Mark.tsx";
