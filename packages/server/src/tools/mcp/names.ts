/** Names of MCP tools for models: `mcp_<server>_<tool>`, in characters that all vendors accept. */

const MAX_LENGTH = 64;

export type ToolKey = { readonly server: string; readonly tool: string };

/**
 * The names, in the order of the keys. A name always identifies the same tool: if characters were replaced or
 * removed, or two tools would share it, it ends with a hash of the key.
 */
export function toolNames(keys: readonly ToolKey[]): string[] {
  const plain = keys.map(plainName);
  const uses = new Map<string, number>();
  for (const name of plain) uses.set(name, (uses.get(name) ?? 0) + 1);
  return keys.map((key, index) => {
    const name = plain[index] ?? '';
    const exact = name === `mcp_${key.server}_${key.tool}` && name.length <= MAX_LENGTH;
    return exact && uses.get(name) === 1 ? name : marked(name, key);
  });
}

const plainName = ({ server, tool }: ToolKey): string =>
  `mcp_${server}_${tool}`.replace(/[^A-Za-z0-9_-]/g, '_');

function marked(name: string, { server, tool }: ToolKey): string {
  const mark = new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, 8);
  return `${name.slice(0, MAX_LENGTH - 1 - mark.length)}_${mark}`;
}
