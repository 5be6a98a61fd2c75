import { describe } from 'bun:test';
import { leasesContract } from '../contract/leases.ts';
import { LeaseTable, openMemoryLeases } from './leases.ts';

describe('leases in memory', () =>
  leasesContract(() => {
    const table = new LeaseTable();
    return { open: () => openMemoryLeases(table) };
  }));
