/** Contract tests for every store. `contract.test.ts` runs them for each implementation in this folder. */
import { describe } from 'bun:test';
import { apiKeysContract } from './contract/api-keys.ts';
import { appendingContract } from './contract/appending.ts';
import { contentContract } from './contract/content.ts';
import { decisionsContract } from './contract/decisions.ts';
import { durabilityContract } from './contract/durability.ts';
import { erasingContract } from './contract/erasing.ts';
import { invitationsContract } from './contract/invitations.ts';
import { leasesContract } from './contract/leases.ts';
import { listingContract } from './contract/listing.ts';
import { lookupContract } from './contract/lookup.ts';
import { nodesContract } from './contract/nodes.ts';
import { pairingsContract } from './contract/pairings.ts';
import { preferencesContract } from './contract/preferences.ts';
import { readingContract } from './contract/reading.ts';
import { revocationsContract } from './contract/revocations.ts';
import { searchContract } from './contract/search.ts';
import { settingsContract } from './contract/settings.ts';
import { sharesContract } from './contract/shares.ts';
import { signInsContract } from './contract/sign-ins.ts';
import type { Implementation } from './contract/store-location.ts';
import { turnsContract } from './contract/turns.ts';
import { usageContract } from './contract/usage.ts';
import { usersContract } from './contract/users.ts';
import { versionsContract } from './contract/versions.ts';
import { webhooksContract } from './contract/webhooks.ts';

export function storeContract(name: string, implementation: Implementation): void {
  const { skip } = implementation;
  const title = `the ${name} store`;
  describe.skipIf(skip !== undefined)(skip === undefined ? title : `${title} (not here: ${skip})`, () => {
    describe('appending', () => appendingContract(implementation));
    describe('reading', () => readingContract(implementation));
    describe('listing', () => listingContract(implementation));
    describe('versions of events', () => versionsContract(implementation));
    describe('lookup', () => lookupContract(implementation));
    describe('shares', () => sharesContract(implementation));
    describe('webhooks', () => webhooksContract(implementation));
    describe('search', () => searchContract(implementation));
    describe('turns', () => turnsContract(implementation));
    describe('usage', () => usageContract(implementation));
    describe('erasing', () => erasingContract(implementation));
    describe('leases', () => leasesContract(implementation));
    describe('nodes', () => nodesContract(implementation));
    describe('content', () => contentContract(implementation));
    describe('users', () => usersContract(implementation));
    describe('API keys', () => apiKeysContract(implementation));
    describe('sign-ins', () => signInsContract(implementation));
    describe('invitations', () => invitationsContract(implementation));
    describe('pairings', () => pairingsContract(implementation));
    describe('revocations', () => revocationsContract(implementation));
    describe('preferences', () => preferencesContract(implementation));
    describe('decisions about files', () => decisionsContract(implementation));
    describe('settings', () => settingsContract(implementation));
    describe('durability', () => durabilityContract(implementation));
  });
}
