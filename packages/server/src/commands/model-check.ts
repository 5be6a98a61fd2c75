/** Tests the configured model and model providers, for the CLI. */
import { Fault, type FaultData } from '@parlance/protocol';
import { openProvider } from '../compose/model-provider.ts';
import type { Config, Vendor } from '../config/config.ts';
import type { Prompt } from '../core/ports/provider.ts';
import { type VendorAccess, vendorModels } from '../providers/vendor-models.ts';

export { vendorStates } from '../compose/setup/model-lists.ts';
export { CATALOGUE_DATE } from '../providers/catalogue.ts';

const nothing = () => undefined;
const NO_LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const PROMPT: Prompt = {
  task: 'chat',
  instructions: 'Answer with one word.',
  items: [{ kind: 'user', parts: [{ type: 'text', text: 'Say OK.' }] }],
  tools: [],
};

/** The failure, or null if the model answers. Does not retry. */
export async function checkModel(config: Config, timeoutMs = 30_000): Promise<FaultData | null> {
  const stop = new AbortController();
  const late: FaultData = {
    code: 'provider_unavailable',
    message: `No answer within ${timeoutMs / 1_000} s.`,
  };
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  try {
    for await (const event of openProvider(config.model, config, NO_LOG).stream(PROMPT, stop.signal)) {
      if (event.type === 'retrying') return event.fault;
      if (event.type === 'failed') return stop.signal.aborted ? late : event.fault;
      if (event.type === 'ended') return null;
    }
    return late;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** The failure, or null if the provider lists its models with this key. */
export async function checkProvider(vendor: Vendor, access: VendorAccess): Promise<FaultData | null> {
  try {
    await vendorModels(vendor, access);
    return null;
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    return { code: thrown.code, message: thrown.message };
  }
}
