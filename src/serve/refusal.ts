/** Why a request is not answered as asked, in words for whoever sent it. */
export class Refusal extends Error {
  readonly status: number;
  /** Methods that the path has, for a request with another one. */
  readonly allowed: string | undefined;

  constructor(status: number, message: string, allowed?: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.allowed = allowed;
  }
}

/** The client has left: there is nobody to answer. */
export class Departure extends Error {}

/** What logs and metrics have for the status of a request whose client left, as other servers do. */
export const departureStatus = 499;

export function errorText(message: string): string {
  return `{"error":${JSON.stringify(message)}}`;
}
