/** Contract tests for every transport. `transport.test.ts` runs them for each implementation. */
import { describe } from 'bun:test';
import { strangersContract } from './forged-messages.ts';
import { messagesContract } from './messages.ts';
import type { Implementation } from './network.ts';
import { outagesContract } from './outages.ts';
import { registryContract } from './registry.ts';
import { requestsContract } from './requests.ts';

export function transportContract(name: string, implementation: Implementation): void {
  describe(`the ${name} transport`, () => {
    describe('messages', () => messagesContract(implementation));
    describe('requests', () => requestsContract(implementation));
    describe('registry', () => registryContract(implementation));
    describe('outages', () => outagesContract(implementation));
    describe('strangers', () => strangersContract(implementation));
  });
}
