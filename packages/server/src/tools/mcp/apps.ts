/**
 * Apps of MCP servers (the extension `io.modelcontextprotocol/ui`): pages that show the results of a tool in the console, in a
 * sandboxed frame. What a definition and a page declare about themselves is checked here.
 */
import type { Tool as Definition, ReadResourceResult } from '@modelcontextprotocol/client';
import { Fault, isObject, type JsonObject } from '@parlance/protocol';
import type { McpAppPage } from '../../core/ports/mcp-servers.ts';
import { isPublicOrigin } from '../../lib/public-origin.ts';
import { cutText } from '../cut.ts';

const MIME = 'text/html;profile=mcp-app';
/** Capability of a client that shows apps. */
export const APPS = { 'io.modelcontextprotocol/ui': { mimeTypes: [MIME] } };

const MAX_HTML = 5_000_000;
const MAX_ORIGINS = 20;
const MAX_URI = 1_000;
/** Of what only an app gets of a result, in characters: it is stored. */
const MAX_META = 20_000;

/** The address of the app that shows the results of the tool. */
export function appOf({ _meta: meta }: Definition): string | null {
  const uri = isObject(meta?.ui) ? meta.ui.resourceUri : meta?.['ui/resourceUri'];
  return typeof uri === 'string' && uri.startsWith('ui://') && uri.length <= MAX_URI ? uri : null;
}

/** Who may call the tool; both if it does not say. */
export function isFor({ _meta: meta }: Definition, caller: 'model' | 'app'): boolean {
  const visibility = isObject(meta?.ui) ? meta.ui.visibility : undefined;
  return !Array.isArray(visibility) || visibility.includes(caller);
}

/** What only the app gets of a result; nothing if it is too large. */
export const metaFor = (meta: unknown): JsonObject | undefined =>
  isObject(meta) && JSON.stringify(meta).length <= MAX_META ? (meta as JsonObject) : undefined;

/** The page in an answer of the server. Throws `invalid` if there is none. */
export function pageIn({ contents }: ReadResourceResult): McpAppPage {
  const [content] = contents;
  if (content?.mimeType?.replaceAll(' ', '') !== MIME)
    throw new Fault('invalid', `The app is not of the type ${MIME}.`);
  const html = 'text' in content ? content.text : Buffer.from(content.blob, 'base64').toString();
  if (html.length > MAX_HTML) throw new Fault('invalid', 'The app is too large.');
  const { ui } = content._meta ?? {};
  const csp = isObject(ui) && isObject(ui.csp) ? ui.csp : {};
  return { html, connect: originsIn(csp.connectDomains), load: originsIn(csp.resourceDomains) };
}

const originsIn = (listed: unknown): string[] =>
  (Array.isArray(listed) ? listed : [])
    .filter((origin): origin is string => typeof origin === 'string' && isPublicOrigin(origin))
    .slice(0, MAX_ORIGINS);

/** The definition of a tool as its app sees it. */
export const shownTo = ({ name, title, description, inputSchema }: Definition): JsonObject => ({
  name,
  ...(title !== undefined && { title: cutText(title, 200) }),
  ...(description !== undefined && { description: cutText(description, 4_000) }),
  inputSchema: inputSchema as JsonObject,
});
