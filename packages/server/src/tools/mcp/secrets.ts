/** Keeps what a server was given in confidence out of the log and out of faults. */
import type { McpServer } from './servers.ts';

/** Shorter values are words and switches, which would be struck out everywhere. */
const SHORTEST = 6;

export type Redact = (text: string) => string;

export function redactorFor(server: McpServer): Redact {
  const secrets = secretsOf(server)
    .filter((secret) => secret.length >= SHORTEST)
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
}

function secretsOf(server: McpServer): string[] {
  if ('command' in server) return Object.values(server.env);
  const url = new URL(server.url);
  return [
    // A header such as "Bearer x" is as secret as the x alone.
    ...Object.values(server.headers).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...[...url.searchParams.values()],
    ...[url.username, url.password],
  ];
}
