/** The id of a request in the log: the caller's, if it sent a valid one. */

/** Carries the id in both directions. */
export const REQUEST_ID_HEADER = 'x-request-id';

const FIT = /^[\w.:/+=@-]{1,128}$/;
const ids = new WeakMap<Request, string>();

/** Stable for the lifetime of the request. */
export function requestIdOf(request: Request): string {
  let id = ids.get(request);
  if (id === undefined) {
    const given = request.headers.get(REQUEST_ID_HEADER);
    id = given !== null && FIT.test(given) ? given : crypto.randomUUID();
    ids.set(request, id);
  }
  return id;
}
