/** The id under which the log speaks of a request: the caller's own, where it has one that is fit for a log. */

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
