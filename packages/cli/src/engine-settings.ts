/**
 * Runtime settings that `bin/parlance` puts into its environment before starting; the executable sets them
 * itself.
 */

/** Behind a proxy, each streaming turn uses `fetch`, of which Bun runs 256 concurrently and queues the rest. */
const REQUESTS = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65336' };

/** The profile for small machines: see `bin/parlance`. */
const SMALL = {
  BUN_JSC_largeHeapSize: '18874368',
  BUN_JSC_heapGrowthMaxIncrease: '0.27',
  BUN_JSC_minEdenToOldGenerationRatio: '0.2',
  BUN_JSC_decommitUnusedMarkedBlockPagesAfterEdenCollections: '1',
  MIMALLOC_PURGE_DELAY: '0',
  BUN_JSC_useFTLJIT: '0',
};

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];

/** The variables missing from the environment; the runtime reads them only at startup. */
export function missingSettings(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const settings = {
    ...(PROXIES.some((name) => env[name]) && REQUESTS),
    ...(env.PARLANCE_PROFILE === 'small' && SMALL),
  };
  return Object.fromEntries(Object.entries(settings).filter(([name]) => env[name] === undefined));
}
