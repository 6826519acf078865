/** All that the page shows and hears of sessions elsewhere, loaded with the first one. */
export { UnreachableNotice } from "./UnreachableNotice.tsx";
export { follow } from "./follow.ts";
export { LocationMark } from "./LocationMark.tsx";
