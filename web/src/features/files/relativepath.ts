/** Paths of files by the workspace that they are in. */

/** A path from the workspace's root; undefined where it leads out of it. */
export function relativePath(path: string, root: string): string | undefined {
  const top = root === "/" ? "/" : `${root}/`;
  return path.startsWith(top) ? path.slice(top.length) : undefined;
}
