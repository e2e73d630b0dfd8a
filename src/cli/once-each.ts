/** What goes wrong again and again, such as a folder that cannot be read, is said once. */
export function onceEach(say: (message: string) => void): (error: unknown) => void {
  const said = new Set<string>();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    if (!said.has(message)) say(message);
    said.add(message);
  };
}
