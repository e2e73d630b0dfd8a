import { DataError } from '../errors.ts';

const accessProblems: Record<string, string> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'no permission to read it',
  EPERM: 'no permission to read it',
  EISDIR: 'a directory; expected a file',
};

/** What the operating system refused, as a fault of the input; other errors as they are. */
export function explainAccess(error: unknown, name: string): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  // Only the operating system's codes: Node's own (ERR_…) are no fault of the input.
  if (!/^E[A-Z0-9]+$/.test(code)) return error;
  const problem = accessProblems[code] ?? (error as Error).message;
  return new DataError(`${name}: ${problem}`, { cause: error });
}
