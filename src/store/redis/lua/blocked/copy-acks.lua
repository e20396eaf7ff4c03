--[[
Tells an adder that waits what the readers have acknowledged.

KEYS[1]  meta
KEYS[2]  readers
ARGV[1]  list under which the entry was written
ARGV[2]  longest lease, in milliseconds

Reply: 'LIST'  this list is gone, or another server began it or writes it: nobody knows any more who has a lease
       the number of the last entry that all readers have acknowledged
]]
--- @include "now"
--- @include "copy-least"
--- @include "copy-number"
--- @include "copy-expired"
--- @include "copy-cap"
--- @include "run-id"
--safety:same-list
if not redis.call('ZSCORE', KEYS[2], '#' .. ARGV[1]) then return 'LIST' end
--end
--safety:told-by-server
-- One that came with a snapshot lacks readers that joined later.
if serverRunId() ~= redis.pcall('HGET', KEYS[1], 'leases.run') then return 'LIST' end
--end
-- A replica, which this server may be by now, has what another one writes; it refuses this, which changes
-- nothing.
if type(redis.pcall('ZREM', KEYS[2], '')) ~= 'number' then return 'LIST' end
local copies = { meta = KEYS[1], readers = KEYS[2], now = now(), ms = tonumber(ARGV[2]) }
capLeases(copies)
dropExpired(copies)
return acknowledgedBy(copies, leastOf(copies))
