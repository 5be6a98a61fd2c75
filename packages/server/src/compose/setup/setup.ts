/** The setup API for the administration pages. */
import { STORED_MODEL_SETTINGS } from '../../config/config.ts';
import type { Setup } from '../../dialects/shared/setup.ts';
import type { RefusedOrigins } from '../../http/refused-origins.ts';
import type { McpTools } from '../../tools/mcp/open.ts';
import { modelLists, modelsOf } from './model-lists.ts';
import type { LiveSetup } from './open.ts';

type OtherParts = { readonly mcp: McpTools; readonly refusedOrigins: RefusedOrigins };

export function setupOf({ live, stored }: LiveSetup, { mcp, refusedOrigins }: OtherParts): Setup {
  return {
    modelSettings: STORED_MODEL_SETTINGS,
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
