/** A request that a vendor refused for its own reason. */
import type { ApiFault } from './model-api.ts';

/** Includes the vendor's message if it is one short line without a key, an address, a path, markup, data or a stack. */
export const refusedRequest = (vendor: string, message: string, key: string | undefined): ApiFault => ({
  code: 'provider_rejected',
  message: `${vendor} refused the request${isClean(message, key) ? `: ${message.replace(/\.$/, '')}` : ''}.`,
  retryable: false,
});

const isClean = (message: string, key: string | undefined): boolean =>
  message !== '' &&
  message.length <= 250 &&
  !/\p{Cc}|[<>{}]|https?:|\bsk-|bearer|traceback|\bat .+:\d+|(?:^|[\s'"(=:])(?:~|[a-z]:)?[\\/][\w.-]+[\\/]|[\w-]{40,}/iu.test(
    message,
  ) &&
  !(key && message.includes(key));
