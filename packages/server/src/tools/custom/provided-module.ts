/**
 * Provides `@parlance/sdk/tools` to the operator's modules, with the server's zod, so that nothing needs to
 * be installed next to them.
 */
import * as tools from '@parlance/sdk/tools';

export const PROVIDED = '@parlance/sdk/tools';

let isProvided = false;

/** Applies to all modules loaded afterwards. */
export function provideModule(): void {
  if (isProvided) return;
  isProvided = true;
  Bun.plugin({
    name: 'custom tools',
    setup: (build) => {
      build.module(PROVIDED, () => ({ exports: { ...tools }, loader: 'object' }));
    },
  });
}
