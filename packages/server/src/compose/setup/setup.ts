/** The setup API for the administration pages. */
import type { Setup } from '../../dialects/shared/setup.ts';
import type { RefusedOrigins } from '../../http/refused-origins.ts';
import type { McpTools } from '../../tools/mcp/open.ts';
import { modelLists } from './model-lists.ts';
import { modelsOf } from './models.ts';
import type { LiveSetup } from './open.ts';

type OtherParts = { readonly mcp: McpTools; readonly refusedOrigins: RefusedOrigins };

export function setupOf({ live, stored }: LiveSetup, { mcp, refusedOrigins }: OtherParts): Setup {
  return {
    view: () => stored.view(),
    fixedIds: () => stored.fixedIds(),
    change: (change) => stored.change(change),
    onChange: (listener) => live.onChange(() => listener()),
    models: async (question) => modelsOf(question, live.current),
    listModels: modelLists(live),
    restartMcp: (name) => mcp.restart(name),
    refusedOrigins: () =>
      refusedOrigins.list().filter(({ origin }) => !live.current.allowedOrigins.includes(origin)),
  };
}
