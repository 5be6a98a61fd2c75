/** The id of a request in the log: the caller's own if it has a valid one. */

/** Carries it in both directions. */
export const REQUEST_ID_HEADER = 'x-request-id';

const FIT = /^[\w.:/+=@-]{1,128}$/;
const ids = new WeakMap<Request, string>();

/** The same for as long as the request lives. */
export function requestIdOf(request: Request): string {
  let id = ids.get(request);
  if (id === undefined) {
    const given = request.headers.get(REQUEST_ID_HEADER);
    id = given !== null && FIT.test(given) ? given : crypto.randomUUID();
    ids.set(request, id);
  }
  return id;
}
