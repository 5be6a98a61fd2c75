/** `@parlance/sdk/tools` for modules of the operator, with the zod of the server: nothing has to be installed beside them. */
import * as tools from '@parlance/sdk/tools';

let isProvided = false;

/** For all modules that are loaded from now on. */
export function provideModule(): void {
  if (isProvided) return;
  isProvided = true;
  Bun.plugin({
    name: 'own tools',
    setup: (build) => {
      build.module('@parlance/sdk/tools', () => ({ exports: { ...tools }, loader: 'object' }));
    },
  });
}
