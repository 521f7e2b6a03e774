import type { INamespace } from 'protobufjs';

export function describe(): INamespace;
