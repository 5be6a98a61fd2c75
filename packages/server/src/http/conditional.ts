/** Conditional requests (RFC 9110, section 13) for answers that are read again and again. */

/** The client has this representation. Validators are compared weakly, as they are for reading. */
export function isUnchanged({ headers }: Request, etag: string): boolean {
  const known = headers.get('if-none-match');
  if (known === null) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return known.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/** The answer with an entity tag, or 304 without a body if the client has it. */
export function tagged(request: Request, body: string, others: Readonly<Record<string, string>>): Response {
  const etag = `"${Bun.hash(body).toString(36)}"`;
  const headers = { ...others, etag };
  return isUnchanged(request, etag)
    ? new Response(null, { status: 304, headers })
    : new Response(body, { headers });
}
