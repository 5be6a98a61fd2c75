/** Redacts a server's secrets in logs and faults. */
import type { McpServer } from './servers.ts';

/** Shorter values are common words, which would be redacted everywhere. */
const MIN_LENGTH = 6;

export type Redact = (text: string) => string;

export function redactorFor(server: McpServer): Redact {
  const secrets = secretsOf(server)
    .filter((secret) => secret.length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
}

function secretsOf(server: McpServer): string[] {
  if ('command' in server) return Object.values(server.env);
  const url = new URL(server.url);
  return [
    // In a header such as "Bearer x", x alone is a secret as well.
    ...Object.values(server.headers).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...[...url.searchParams.values()],
    ...[url.username, url.password, server.oauth?.clientSecret ?? ''],
  ];
}
