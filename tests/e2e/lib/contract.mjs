// The compiled test contract; source in ../contracts.
import {readFileSync} from 'node:fs';

export const {abi, bytecode} = JSON.parse(
  readFileSync(new URL('../contracts/Counter.json', import.meta.url), 'utf8'),
);
