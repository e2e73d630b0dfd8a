/**
 * Every failure the project raises on purpose is one of these. The command line turns `kind` into
 * an exit code; the library user can switch on it.
 */
export type ErrorKind = 'failure' | 'usage' | 'data';

export class DsoError extends Error {
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DsoError';
    this.kind = kind;
  }
}

/** The input is at fault: the message says where, what was found and what was wanted. */
export class DataError extends DsoError {
  constructor(message: string, options?: ErrorOptions) {
    super('data', message, options);
    this.name = 'DataError';
  }
}

/** The caller is at fault: an unknown option, an impossible combination. */
export class UsageError extends DsoError {
  constructor(message: string, options?: ErrorOptions) {
    super('usage', message, options);
    this.name = 'UsageError';
  }
}
