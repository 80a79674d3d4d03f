// Smooths a point set by CGAL: for clouds.py, which compiles it.
//
//   cgal_smooth jet|bilateral NEIGHBOURS ROUNDS < points > points
//
// Points are triples of float64 as they lie in memory.

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/bilateral_smooth_point_set.h>
#include <CGAL/jet_estimate_normals.h>
#include <CGAL/jet_smooth_point_set.h>
#include <CGAL/mst_orient_normals.h>
#include <CGAL/property_map.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
// A point, its normal, and its number, as points change their order.
using Oriented = std::tuple<Kernel::Point_3, Kernel::Vector_3, std::size_t>;

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("cgal_smooth jet|bilateral NEIGHBOURS ROUNDS\n", stderr);
    return 2;
  }
  const bool jet = std::string(argv[1]) == "jet";
  const unsigned neighbours = std::atoi(argv[2]);
  const int rounds = std::atoi(argv[3]);
  std::vector<Oriented> points;
  double p[3];
  while (std::fread(p, sizeof p, 1, stdin) == 1)
    points.emplace_back(Kernel::Point_3(p[0], p[1], p[2]), Kernel::Vector_3(0, 0, 0), points.size());
  const auto maps = CGAL::parameters::point_map(CGAL::Nth_of_tuple_property_map<0, Oriented>())
                        .normal_map(CGAL::Nth_of_tuple_property_map<1, Oriented>());
  if (!jet) {
    CGAL::jet_estimate_normals<CGAL::Sequential_tag>(points, neighbours, maps);
    CGAL::mst_orient_normals(points, neighbours, maps);
  }
  for (int i = 0; i < rounds; ++i) {
    if (jet)
      CGAL::jet_smooth_point_set<CGAL::Sequential_tag>(points, neighbours, maps);
    else
      CGAL::bilateral_smooth_point_set<CGAL::Sequential_tag>(points, neighbours, maps);
  }
  std::vector<double> moved(3 * points.size());
  for (const auto& [at, normal, number] : points)
    for (int k = 0; k < 3; ++k) moved[3 * number + k] = at[k];
  return std::fwrite(moved.data(), sizeof(double), moved.size(), stdout) == moved.size() ? 0 : 1;
}
