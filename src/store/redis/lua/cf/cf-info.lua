--[[
Tells whether the server has cuckoo filters, and how many fingerprints one holds.

KEYS[1]  the filter

Reply: { '', fingerprints, bytes } or { the error of CF.INFO }
]]
local info = redis.pcall('CF.INFO', KEYS[1])
if info.err then return { info.err } end
local values = {}
for i = 1, #info, 2 do
  local name = info[i]
  values[type(name) == 'table' and name.ok or name] = info[i + 1]
end
return { '', values['Number of items inserted'], values['Size'] }
