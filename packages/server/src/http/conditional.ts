/** Conditional requests and ranges (RFC 9110, sections 13 and 14) for answers that are read again and again. */

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

type Content = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

/**
 * The whole body, or the range that the request asks for. Several ranges are answered with the whole. `body` makes the bytes from one
 * position up to before the other.
 */
export function ranged(
  { headers: asked }: Request,
  { size, body }: { readonly size: number; readonly body: (from: number, to: number) => Content },
  others: Readonly<Record<string, string>> & { readonly etag: string },
): Response {
  const headers = { ...others, 'accept-ranges': 'bytes' };
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(asked.get('range') ?? '') ?? [];
  const condition = asked.get('if-range');
  if ((first === '' && last === '') || (condition !== null && condition !== others.etag))
    return new Response(body(0, size), { headers });
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size : Math.min(Number(last) + 1, size);
  // RFC 9110: a range that ends before it begins is ignored.
  if (first !== '' && last !== '' && Number(last) < Number(first))
    return new Response(body(0, size), { headers });
  if (from >= size || to <= from)
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${size}` } });
  return new Response(body(from, to), {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${from}-${to - 1}/${size}` },
  });
}
