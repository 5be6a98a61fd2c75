/** The reference part of a dialect's page: tables of messages and endpoints. */
import type { Endpoint } from '../dialects/kit/description.ts';
import type { Described } from './descriptions.ts';
import { type JsonSchema, payloadSchema } from './json-schema.ts';

export type ReferenceTable = 'client-messages' | 'server-messages' | 'endpoints';

/** The rows of each table that the dialect has. */
export function referenceTables({
  endpoints,
  socket,
  messages,
}: Described): Partial<Record<ReferenceTable, string[]>> {
  const name = socket?.nameField ?? 'type';
  return {
    ...(messages && {
      'client-messages': [
        '| message | fields | meaning |',
        '|---|---|---|',
        ...Object.entries(messages.in).map(([type, { schema, summary }]) =>
          row(`\`${type}\``, fields(payloadSchema(schema, 'input'), name), summary),
        ),
      ],
      'server-messages': [
        '| message | fields | meaning |',
        '|---|---|---|',
        ...Object.entries(messages.out).map(([type, { schema, summary }]) =>
          row(`\`${type}\``, fields(payloadSchema(schema, 'output'), name), summary),
        ),
      ],
    }),
    ...(endpoints.length > 0 && {
      endpoints: [
        '| endpoint | access | meaning |',
        '|---|---|---|',
        ...endpoints.map((endpoint) =>
          row(
            `\`${endpoint.method.toUpperCase()} ${endpoint.path}\``,
            ACCESS[endpoint.security],
            endpoint.summary,
          ),
        ),
      ],
    }),
  };
}

const ACCESS: Record<Endpoint['security'], string> = {
  nobody: 'anyone',
  caller: 'a token if the server requires one',
  token: 'a token',
  signed: 'a signature',
};

const row = (...cells: string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** The fields of a frame; a question mark marks those that may be absent. */
function fields(schema: JsonSchema, nameField: string): string {
  const list = names(schema, [nameField]);
  return list === '' ? '' : `\`${list}\``;
}

function names({ properties = {}, required = [] }: JsonSchema, without: readonly string[] = []): string {
  return Object.entries(properties)
    .filter(([name]) => !without.includes(name))
    .map(([name, inner]) => {
      const nested = typeof inner === 'object' && inner.properties ? `{${names(inner)}}` : '';
      return `${name}${required.includes(name) ? '' : '?'}${nested}`;
    })
    .join(', ');
}
