import type { Endpoint, RequestExample } from '../dialects/shared/description.ts';

/** Path and query of a request. */
export function requestPath(
  { path }: Pick<Endpoint, 'path'>,
  { params = {}, query }: Pick<RequestExample, 'params' | 'query'>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? 'none'));
  return query ? `${filled}?${new URLSearchParams(query)}` : filled;
}
