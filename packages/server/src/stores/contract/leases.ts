/** What the leases of every store promise, as tests. */
import { expect, test } from 'bun:test';
import type { PrincipalId, SessionId } from '@parlance/protocol';
import type { Leases } from '../../core/ports/lease.ts';

const ONE = { owner: 'ada' as PrincipalId, id: 'one' as SessionId };
const TWO = { owner: 'ada' as PrincipalId, id: 'two' as SessionId };

/** `open` opens another node on the same leases. */
export function leasesContract(place: () => { open(): Leases }): void {
  test('one node holds the lease of a session; others hold those of other sessions', async () => {
    const { open } = place();
    const [here, there] = [open(), open()];
    const lease = await here.claim(ONE);
    expect(lease?.ref).toEqual(ONE);
    expect(await there.claim(ONE)).toBeNull();
    expect(await there.claim(TWO)).not.toBeNull();
  });

  test('a node that holds the lease gets the same one again', async () => {
    const here = place().open();
    const lease = await here.claim(ONE);
    expect(await here.claim(ONE)).toEqual(lease);
  });

  test('a lease that was released can be claimed elsewhere, with a higher epoch', async () => {
    const { open } = place();
    const [here, there] = [open(), open()];
    const first = await here.claim(ONE);
    if (!first) throw new Error('not claimed');
    expect(here.good(first)).toBe(true);
    await here.release(first);
    expect(here.good(first)).toBe(false);
    const second = await there.claim(ONE);
    expect(second?.epoch).toBeGreaterThan(first.epoch);
    // The earlier holder cannot give away what is no longer its own.
    await here.release(first);
    expect(second && there.good(second)).toBe(true);
    expect(await here.claim(ONE)).toBeNull();
  });

  test('of two nodes that claim at once one gets the lease', async () => {
    const { open } = place();
    const claimed = await Promise.all([open().claim(ONE), open().claim(ONE), open().claim(ONE)]);
    expect(claimed.filter((lease) => lease !== null)).toHaveLength(1);
  });
}
