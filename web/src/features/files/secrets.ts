/** Environment files can be shown by whoever asks for it; other secrets never (protocol-files). */
export const canReveal = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return name.startsWith(".env") || name.endsWith(".env");
};
