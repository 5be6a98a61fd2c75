import { parlance } from '@parlance/ui/state/server.ts';

/** A UUID, because some dialects require one. `crypto.randomUUID` is missing on pages served over plain HTTP. */
export const newName = (): string =>
  parlance.session().id.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
