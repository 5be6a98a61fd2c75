/** Copies what admins have set from one store to another. */
import type { JsonObject } from '@parlance/protocol';
import { seal, unseal } from './accounts/seal.ts';
import type { SettingsStore } from './accounts/store.ts';

type Secret = Uint8Array<ArrayBuffer>;
type Source = { readonly settings: SettingsStore; secrets(): Promise<readonly Secret[]> };
type Target = { readonly settings: SettingsStore; secret(): Promise<Secret> };

export type CopiedSettings = {
  /** the number of documents */
  readonly copied: number;
  /** the stored setup is encrypted with a secret that is not known here, and was not copied */
  readonly unreadable: boolean;
};

/** Documents that the target has already stay as they are. */
export async function copySettings(from: Source, to: Target): Promise<CopiedSettings> {
  let copied = 0;
  const copy = async (name: string, changed: (value: JsonObject) => Promise<JsonObject | null>) => {
    const found = await from.settings.read(name);
    if (found === null || (await to.settings.read(name)) !== null) return true;
    const value = await changed(found.value);
    if (value !== null && (await to.settings.write(name, value, 0))) copied++;
    return value !== null;
  };
  await copy('prices', async (value) => value);
  const isReadable = await copy('setup', async ({ sealed }) => resealed(String(sealed), from, to));
  return { copied, unreadable: !isReadable };
}

/** Encrypted for the target; null if none of the secrets of the source fits. */
async function resealed(sealed: string, from: Source, to: Target): Promise<JsonObject | null> {
  for (const secret of await from.secrets()) {
    const opened = await unseal(sealed, secret);
    if (opened) return { sealed: await seal(opened, await to.secret()) };
  }
  return null;
}
