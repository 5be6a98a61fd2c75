/** Webhooks whose targets, which may have credentials, are stored encrypted. What cannot be decrypted has an empty target. */
import type { JsonObject } from '@parlance/protocol';
import { seal, unseal } from '../accounts/seal.ts';
import type { Webhook, WebhookStore } from '../core/index.ts';

export function sealedWebhooks(webhooks: WebhookStore, secret: Uint8Array<ArrayBuffer>): WebhookStore {
  const opened = async <One extends Webhook>(webhook: One): Promise<One> => {
    const target: JsonObject = (await unseal(String(webhook.target.sealed), secret)) ?? {};
    return { ...webhook, target };
  };
  return {
    ...webhooks,
    put: async (webhook, max) =>
      webhooks.put({ ...webhook, target: { sealed: await seal(webhook.target, secret) } }, max),
    async find(...key) {
      const found = await webhooks.find(...key);
      return found && opened(found);
    },
    list: async (...key) => Promise.all((await webhooks.list(...key)).map(opened)),
    take: async (...query) => Promise.all((await webhooks.take(...query)).map(opened)),
  };
}
