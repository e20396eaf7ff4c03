--[[
Takes a string of bits as others have left it for the live generation: fills it up to its full length, sets the canaries, and
writes the metadata.

KEYS[1]  meta
KEYS[2]  the string
KEYS[3]  a hash with settings that peers keep beside it, if they do
ARGV[1]  states in which the metadata may be, with a space before and after each; missing ones are unbuilt
ARGV[2]  format that the metadata must have, if there are any
ARGV[3]  proof: length in bytes (4), number of canaries (1), the byte offset of each (4), all big-endian; then the bytes with
         which the string must begin
ARGV[4]  bits of the last byte that no id has
ARGV[5]  '1': an empty string is made when there is none
ARGV[6]  number of arguments that follow about the settings: fields and the values they must have
ARGV[7..] these, then fields and values of the generation

Reply: 'STALE'    the metadata are in another state, or of another format
       'MISSING'  there is no such string
       'TYPE'     the key has another type
       'LENGTH'   the string is longer than the filter, or shorter than a filter with so many bits set would be
       'HEAD'     the string begins with other bytes
       'SETTINGS' the settings are others
       'OK'
]]
--- @include "adoptable"
--- @include "bitmap-proof"
--- @include "bitmap-head"
--- @include "bitmap-smaller"
--- @include "bitmap-mark"
--- @include "settings"
--- @include "run-id"
local meta, key = KEYS[1], KEYS[2]
if not stateToAdopt(meta, ARGV[1], ARGV[2]) then return 'STALE' end
-- A rebuild of another process has begun: a staging marks the live string, so what is there may be what it
-- left.
if ARGV[1] == ' unbuilt ' and redis.call('EXISTS', meta) == 1 then return 'MISSING' end

local length, _, head = partsOf(ARGV[3])
local lastSetting = 6 + ARGV[6]
if not hasSettings(KEYS[3], 7, lastSetting) then return 'SETTINGS' end
local kind = redis.call('TYPE', key).ok
if kind == 'none' and ARGV[5] ~= '1' then return 'MISSING' end
if kind ~= 'none' and kind ~= 'string' then return 'TYPE' end
local found = redis.call('STRLEN', key)
if found > length then return 'LENGTH' end
if found == length and string.byte(redis.call('GETRANGE', key, -1, -1)) % 2 ^ ARGV[4] ~= 0 then return 'LENGTH' end
if not beginsWith(key, head) then return 'HEAD' end
if isOfFewerBits(key, found, length) then return 'LENGTH' end

-- A string of its full length, which peers read as before: one that was cut short is noticed.
mark(key, ARGV[3])
redis.call('HDEL', meta, 'recent')
redis.call('HSET', meta, 'state', 'ready', 'runId', serverRunId(), unpack(ARGV, lastSetting + 1))
return 'OK'
