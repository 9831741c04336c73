// What is at hand on this machine.
import {spawnSync} from 'node:child_process';

export const hasCommand = (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
