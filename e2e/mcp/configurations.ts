/** Schemas of the configuration files of MCP clients from their documentation, and clients started from them. */
import { z } from 'zod';
import { guideCode } from '../guide.ts';

const Headers = z.record(z.string(), z.string());
const Program = {
  command: z.string(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
};

/** https://code.visualstudio.com/docs/copilot/reference/mcp-configuration */
const VsCode = z.strictObject({
  servers: z.record(
    z.string().regex(/^[a-zA-Z][\w-]*$/),
    z.union([
      z.strictObject({ type: z.enum(['http', 'sse']), url: z.url(), headers: Headers.optional() }),
      z.strictObject({ type: z.literal('stdio'), ...Program }),
    ]),
  ),
  inputs: z
    .array(
      z.strictObject({
        type: z.literal('promptString'),
        id: z.string(),
        description: z.string(),
        password: z.boolean().optional(),
        default: z.string().optional(),
      }),
    )
    .optional(),
});

/** https://modelcontextprotocol.io/docs/develop/connect-local-servers: programs only */
const ClaudeDesktop = z.strictObject({ mcpServers: z.record(z.string(), z.strictObject(Program)) });

/** https://cursor.com/docs/context/mcp */
const Cursor = z.strictObject({
  mcpServers: z.record(
    z.string(),
    z.union([
      z.strictObject({ url: z.url(), headers: Headers.optional() }),
      z.strictObject({ type: z.literal('stdio').optional(), ...Program }),
    ]),
  ),
});

export type Remote = { readonly url: string; readonly headers?: Readonly<Record<string, string>> };
export type Local = z.output<typeof ClaudeDesktop>['mcpServers'][string];

/** The servers of a configuration for this client, with the token inserted like by the client or its user. */
export async function configured(
  http: string,
  client: 'VS Code' | 'Claude Desktop' | 'Cursor',
  token: string,
): Promise<Readonly<Record<string, Remote | Local>>> {
  const text = await guideCode({ http, headers: { authorization: `Bearer ${token}` } }, 'mcp', client);
  const filled = (variable: RegExp) => JSON.parse(text.replace(variable, token)) as unknown;
  switch (client) {
    case 'VS Code': {
      const { inputs = [] } = VsCode.parse(JSON.parse(text));
      const [input] = inputs;
      return VsCode.parse(filled(new RegExp(`\\$\\{input:${input?.id}\\}`))).servers;
    }
    case 'Claude Desktop':
      return ClaudeDesktop.parse(filled(/<token>/)).mcpServers;
    case 'Cursor':
      return Cursor.parse(filled(/\$\{env:PARLANCE_TOKEN\}/)).mcpServers;
  }
}
